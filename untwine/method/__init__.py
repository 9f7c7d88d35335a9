"""The contract of every method: fit, encode, decode, save and load, what may go in, and what scikit-learn asks for."""
