import Fleet
import Wire

extension Context {
  func configuration() throws(Complaint) -> FleetConfiguration {
    do {
      return try FleetConfiguration.find(explicit: invocation.value("config"), environment: environment)
    } catch {
      throw Complaint(
        .usage,
        "The configuration is wrong, and nothing was read. \(error.description.printableLines). "
          + "Correct it and run the command again.")
    }
  }

  /// The record, for reading; fleet.yaml may name another place for it.
  func record() throws(Complaint) -> RecordReader { try record(of: try configuration()) }

  func record(of configuration: FleetConfiguration) throws(Complaint) -> RecordReader {
    do { return RecordReader(try configuration.record.path(environment)) } catch {
      throw Complaint(.harness, error.sentence.printable)
    }
  }
}

extension Complaint {
  init(_ trouble: RecordTrouble) { self.init(.harness, trouble.sentence.printable) }
}

/// Times as people read them: their own, with its offset.
enum LocalTime {
  /// `2026-12-20 09:30:00 +0100`; a text that is no time stays as it is.
  static func text(_ rfc3339: String) -> String { WallClock.local(rfc3339) ?? rfc3339 }
}
