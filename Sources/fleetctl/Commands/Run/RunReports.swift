import Fleet
import Scenarios
import Transport
import Wire

/// Where a run's events go beside the screen: the record and the reports.
final class RunReports: Sendable {
  /// The run's number in the record; 0 for one that is not kept.
  let number: Int
  /// Whether a report shows the phones' logs.
  let keepsLog: Bool
  private let desk: ReportDesk?
  private let keeper: RecordKeeper?
  private let output: Output
  private let hasTrouble: Guarded<Bool>

  /// A report that could not be written so far.
  var isBroken: Bool { hasTrouble.with { $0 } }

  /// Opens them all: what cannot be written is to be known before a phone is touched.
  ///
  /// - Parameters:
  ///   - settings: fleet.yaml's; nil for a run on virtual phones of its own, which is kept where that can be and goes on
  ///     where it can't.
  ///   - mask: takes secrets out of what the command line says.
  static func open(
    _ options: ReportOptions, record settings: RecordSettings?, _ mask: Mask, _ context: Context
  ) async throws(Complaint) -> RunReports {
    let output = context.output
    let keeper: RecordKeeper?
    do throws(Complaint) {
      keeper = try await Self.keeper(options, settings, mask, context)
    } catch {
      guard settings == nil else { throw error }
      output.detail("This run is not kept in the record. \(error.sentence)".printable)
      keeper = nil
    }
    let hasTrouble = Guarded(false)
    guard !options.kinds.isEmpty else { return RunReports(nil, keeper, output, hasTrouble) }
    do throws(ReportTrouble) {
      let desk = try await ReportDesk.open(options.kinds) { trouble in
        hasTrouble.with { $0 = true }
        output.say(trouble.sentence.printable)
      }
      return RunReports(desk, keeper, output, hasTrouble)
    } catch {
      throw Complaint(.harness, error.sentence.printable)
    }
  }

  private init(_ desk: ReportDesk?, _ keeper: RecordKeeper?, _ output: Output, _ hasTrouble: Guarded<Bool>) {
    number = keeper?.number ?? 0
    keepsLog = desk != nil
    self.desk = desk
    self.keeper = keeper
    self.output = output
    self.hasTrouble = hasTrouble
  }

  private static func keeper(
    _ options: ReportOptions, _ settings: RecordSettings?, _ mask: Mask, _ context: Context
  ) async throws(Complaint) -> RecordKeeper {
    let known = settings ?? RecordSettings()
    let path: String
    do { path = try known.path(context.environment) } catch { throw Complaint(.harness, error.sentence) }
    do throws(RecordTrouble) {
      let (record, notices) = try await Record.open(path)
      for notice in notices { if let sentence = notice.sentence { context.output.say(sentence.printable) } }
      return try await RecordKeeper.begin(
        record, version: Program.version, label: options.label.map { mask($0) },
        meta: options.meta.mapValues { mask($0) }, isVirtual: settings == nil, keep: known.keep)
    } catch {
      throw Complaint(.harness, error.sentence.printable)
    }
  }

  func take(_ event: RunEvent) {
    desk?.take(event)
    keeper?.take(event)
  }

  /// Writes what is left to be written.
  ///
  /// - Returns: what could not be; it has been told where it was known before.
  func finish() async -> Complaint? {
    var complaint: Complaint?
    if let desk {
      let troubles = await desk.finish()
      if let trouble = troubles.first {
        complaint = Complaint(.harness, isBroken ? "" : trouble.sentence.printable)
      }
    }
    if let keeper {
      do throws(RecordTrouble) { try await keeper.finish() } catch {
        complaint = Complaint(
          .harness, "Run \(number) is not whole in the record. \(error.sentence)".printable)
      }
      for notice in keeper.takeNotices() { if let sentence = notice.sentence { output.say(sentence.printable) } }
    }
    return complaint
  }
}
