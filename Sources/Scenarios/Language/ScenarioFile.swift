import Fleet
import Transport

/// Scenario files: found, read and checked.
public enum ScenarioFile {
  /// Whether a name can be given to --var: it can stand in braces, and means nothing by itself.
  public static func isVariable(_ name: String) -> Bool {
    StepListReader.isName(name) && !Reading.namesInTexts.contains(name)
  }

  /// Reads one scenario file.
  ///
  /// - Parameter variables: what names in braces stand for, as --var gives them.
  /// - Throws: everything that is wrong in it, with line and column.
  public static func parse(
    path: String, variables: [String: String] = [:], files: Files = .host
  ) throws(Problems) -> Scenario {
    let bytes: [UInt8]
    do {
      bytes = try files.read(path, YAMLDocument.byteLimit)
    } catch {
      throw Problems([error])
    }
    return try parse(bytes, file: path, variables: variables)
  }

  /// - Parameter file: the name that problems and reports carry.
  public static func parse(
    _ bytes: [UInt8], file: String, variables: [String: String] = [:]
  ) throws(Problems) -> Scenario {
    let (root, duplicates) = try YAMLDocument.tree(bytes, file: file)
    let reader = ScenarioReader(file: file, variables: variables)
    reader.reading.wrong(duplicates)
    let scenario = reader.scenario(root, hash: Digest.sha256(bytes))
    try reader.reading.finish()
    guard let scenario else {
      throw Problems([Problem(file: file, line: root.line, column: root.column, sentence: "is no scenario")])
    }
    return scenario
  }

  /// Reads files, and folders with all the scenario files in them. Two scenarios of one name are wrong: reports and the
  /// record tell them apart by it.
  ///
  /// - Throws: everything that is wrong in any of them; then nothing may be run.
  public static func load(
    _ paths: [String], variables: [String: String] = [:], files: Files = .host
  ) throws(Problems) -> [Scenario] {
    var scenarios: [Scenario] = []
    var problems: [Problem] = []
    var found: [String] = []
    for path in paths {
      do {
        found += try ScenarioFolder.files(at: path)
      } catch {
        problems.append(error)
      }
    }
    // A file that is named twice is one file.
    var seen: Set<String> = []
    for path in found where seen.insert(path).inserted {
      do {
        scenarios.append(try parse(path: path, variables: variables, files: files))
      } catch {
        problems += error.list
      }
    }
    problems += sameNames(scenarios)
    guard problems.isEmpty else { throw Problems(problems) }
    return scenarios
  }

  private static func sameNames(_ scenarios: [Scenario]) -> [Problem] {
    var first: [String: Scenario] = [:]
    return scenarios.compactMap { scenario in
      guard let other = first[scenario.name] else {
        first[scenario.name] = scenario
        return nil
      }
      return Problem(
        file: scenario.file, line: scenario.line, column: 1,
        sentence: "the scenario '\(scenario.name)' is already in \(other.file):\(other.line); names are told apart by")
    }
  }
}
