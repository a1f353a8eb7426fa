"""The chapters on MNIST at degrees 1 to 6 (Hermans 2021, sections 3 to 7)."""
