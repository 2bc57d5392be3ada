import Fleet
import Wire

extension Context {
  /// The record, for reading; fleet.yaml may name another place for it.
  func record() throws(Complaint) -> RecordReader {
    let configuration: FleetConfiguration
    do {
      configuration = try FleetConfiguration.find(
        explicit: invocation.value("config"), environment: environment)
    } catch {
      throw Complaint(
        .usage,
        "The configuration is wrong, and nothing was read. \(error.description.printableLines). "
          + "Correct it and run the command again.")
    }
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
