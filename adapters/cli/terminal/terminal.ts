import type { Readable, Writable } from 'node:stream'
import { CommandError, type Exit, exitCodes, messageOf, SIGNALS } from './exit-codes.js'

/** A stream of output. A terminal has a size in characters. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** Streams of a command. Tests pass other streams. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** The stream for results only. */
  readonly stdout: Output
  /** The stream for messages, questions and progress. */
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * Aborts on Ctrl-C and other signals, with an {@link Exit} as the reason. Also aborts once stdout is closed, with
   * {@link OUTPUT_CLOSED} or an error.
   */
  readonly signal: AbortSignal
}

/** Reason of {@link Terminal.signal} after the reader of stdout has gone, as with `| head -1`. */
export const OUTPUT_CLOSED = 'the reader of the output is gone'

/** Resolves once the stream can accept more, so that a slow reader bounds the memory. */
export function write(output: Output, text: string | Uint8Array): Promise<void> | undefined {
  if (output.destroyed || output.write(text)) return undefined
  return new Promise((resolve) => {
    const settle = (): void => {
      output.off('drain', settle)
      output.off('close', settle)
      resolve()
    }
    output.once('drain', settle)
    output.once('close', settle)
  })
}

const isBrokenPipe = (error: NodeJS.ErrnoException): boolean =>
  error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'

/** Resolves once all output has been written, or cannot be written. */
export const flush = (output: Output): Promise<void> =>
  new Promise((resolve) => {
    output.write('', () => resolve())
  })

/**
 * The terminal of this process. The first signal, such as Ctrl-C, ends the command in an orderly way, the second
 * signal at once.
 */
export function processTerminal(): Terminal {
  const controller = new AbortController()
  for (const [name, exit] of Object.entries(SIGNALS) as [NodeJS.Signals, Exit][])
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCodes[exit][0])
      controller.abort(exit)
    })
  process.stdout.on('error', (error) => {
    const reason = `the output cannot be written: ${messageOf(error)}`
    controller.abort(isBrokenPipe(error) ? OUTPUT_CLOSED : new CommandError('failed', reason))
  })
  process.stderr.on('error', () => {})
  const { stdin, stdout, stderr, env } = process
  return { stdin, stdout, stderr, env, signal: controller.signal }
}
