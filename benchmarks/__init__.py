"""Speed and memory, side by side with a bare loop and with pythae, and of metrics; `make bench` prints and checks them."""
