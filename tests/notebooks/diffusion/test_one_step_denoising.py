"""The references of 15_diffusion/01_one_step_denoising against independent results."""
