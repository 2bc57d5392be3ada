import Glibc

signal(SIGPIPE, SIG_IGN)
await Measuring.main(Array(CommandLine.arguments.dropFirst()))
