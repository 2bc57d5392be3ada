import Glibc

_exit(Program.main(CommandLine.arguments))
