extension RecordSettings {
  /// Where the record is: as fleet.yaml names it, else in the state folder.
  public func path(_ environment: [String: String]) throws(HostTrouble) -> String {
    if let sqlite { return sqlite }
    return try StateFolder.find(environment).path + "/fleet.sqlite"
  }
}
