"""References and pictures of 09_recurrent_networks/01_rnn_and_bptt."""
