print("fleetctl")
