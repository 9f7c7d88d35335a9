"""The contract of every method: fit, encode, decode, save and load, checks of the input, and scikit-learn's interface."""
