import { PassThrough, Readable, Writable } from 'node:stream'
import { commands } from '../../adapters/cli/commands.js'
import { runProgram } from '../../adapters/cli/program.js'
import type { Output, Terminal } from '../../adapters/cli/terminal/terminal.js'

export interface CliOptions {
  /** Width of the terminal; missing if the streams are not a terminal. */
  readonly terminal?: { readonly columns: number }
  readonly env?: Terminal['env']
  readonly signal?: AbortSignal
  readonly stdin?: string
  /** Press Ctrl-C once this many lines were printed. */
  readonly interruptAfter?: number
  /** Called with each output on stdout. */
  readonly onStdout?: (text: string) => void
}

export interface CliResult {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

function collected(
  terminal: CliOptions['terminal'],
  onText: (text: string) => void = () => {},
): { stream: Output; text: () => string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      onText(chunk.toString())
      done()
    },
  })
  const size = terminal ? { isTTY: true, columns: terminal.columns } : {}
  return { stream: Object.assign(stream, size), text: () => Buffer.concat(chunks).toString() }
}

/** Runs the command line in this process. */
export async function runCli(
  args: readonly string[],
  {
    terminal,
    env = {},
    signal: given,
    stdin,
    interruptAfter = Infinity,
    onStdout,
  }: CliOptions = {},
): Promise<CliResult> {
  const interrupted = new AbortController()
  const signal = given ? AbortSignal.any([given, interrupted.signal]) : interrupted.signal
  let lines = 0
  const stdout = collected(terminal, (text) => {
    onStdout?.(text)
    lines += text.split('\n').length - 1
    if (lines >= interruptAfter) interrupted.abort()
  })
  const stderr = collected(terminal)
  const input =
    stdin === undefined
      ? new PassThrough().end()
      : Readable.from([Buffer.from(stdin)], { objectMode: false })
  const exit = await runProgram(commands, args, {
    stdin: Object.assign(input, terminal ? { isTTY: true } : {}),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    signal,
  })
  return { exit, stdout: stdout.text(), stderr: stderr.text() }
}
