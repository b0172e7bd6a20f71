"""A notebook that nobody has changed is shown as unchanged, where `make start` opened JupyterLab (tools/lab/student).

JupyterLab writes into a notebook which kernel answered, down to Python's version, as soon as it is open, and calls it
changed if that is new. No built file can hold the version of everybody's Python, so it is told while the file is read.
What lies on disk stays as it is until a student saves.
"""

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import NoSuchKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

KERNEL = "python3"


class Contents(AsyncLargeFileManager):
    """Jupyter's own files; a notebook for Python comes with the kernel that will answer here."""

    async def get(self, path, content=True, **options):
        """A file, folder or notebook as Jupyter's server gives it -> its model (dict)."""
        model = await super().get(path, content, **options)
        if model["type"] == "notebook" and content:
            self.tell_kernel(model["content"]["metadata"])
        return model

    def tell_kernel(self, metadata):
        """Write the kernel's name and language into a notebook's metadata, as JupyterLab would."""
        if metadata.get("kernelspec", {}).get("name") != KERNEL:
            return
        try:
            name = self.parent.kernel_spec_manager.get_kernel_spec(KERNEL).display_name
        except NoSuchKernel:
            return  # JupyterLab will ask the student for a kernel
        metadata["kernelspec"] = {"display_name": name, "language": "python", "name": KERNEL}
        metadata["language_info"] = IPythonKernel.language_info
