import Fleet
import Glibc
import Simulation

// simulate [SEEDS] [FIRST] [DAYS]: simulated years of a fleet, and crowded days; ends with 1 when a promise was broken.
// simulate crowd SEED PHONES DAYS: crowded days of one seed, such as those of a test that failed.
// simulate mutants: each rule of the watch taken out in turn; ends with 1 when one is not missed.
// simulate replay SEED PHONES [-v] [-w] < FILE: one history, as a failing seed prints it, and what came of it;
// -v: every event, -w: every round.
let arguments = CommandLine.arguments.dropFirst()
let numbers = arguments.compactMap(UInt64.init)
switch arguments.first {
case "replay": exit(Replay(numbers, isVerbose: arguments.contains("-v"), leaps: !arguments.contains("-w")).run())
case "crowd": exit(Years([]).crowd(numbers))
case "mutants": exit(MutantHunt().run())
default: exit(Years(numbers).run())
}
