import { PassThrough, Readable, Writable } from 'node:stream'
import { commands } from '../../adapters/cli/commands.js'
import { runProgram } from '../../adapters/cli/program.js'
import type { Output, Terminal } from '../../adapters/cli/terminal/terminal.js'

export interface CliOptions {
  /** Whether the streams are terminals, and how wide they are. */
  readonly terminal?: { readonly columns: number }
  readonly env?: Terminal['env']
  readonly signal?: AbortSignal
  readonly stdin?: string
}

export interface CliResult {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

function collected(terminal: CliOptions['terminal']): { stream: Output; text: () => string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  const size = terminal ? { isTTY: true, columns: terminal.columns } : {}
  return { stream: Object.assign(stream, size), text: () => Buffer.concat(chunks).toString() }
}

/** Runs the command line in this process. */
export async function runCli(
  args: readonly string[],
  { terminal, env = {}, signal = new AbortController().signal, stdin }: CliOptions = {},
): Promise<CliResult> {
  const [stdout, stderr] = [collected(terminal), collected(terminal)]
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
