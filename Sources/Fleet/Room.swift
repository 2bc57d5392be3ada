// Fleet
