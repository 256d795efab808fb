"""The figures of Liang and Samavi (2020), measured anew."""
