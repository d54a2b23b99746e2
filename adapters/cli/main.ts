#!/usr/bin/env node
import { commands } from './commands.js'
import { runProgram } from './program.js'
import { processTerminal } from './terminal/terminal.js'

process.exitCode = await runProgram(commands, process.argv.slice(2), processTerminal())
