"""Speed and memory, side by side with a bare loop and with pythae; `make bench` prints and checks them."""
