import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandError } from './exit-codes.js'
import type { Terminal } from './terminal.js'

/** True if a person can answer questions. */
export const canAsk = ({ stdin, stderr }: Terminal): boolean =>
  stdin.isTTY === true && stderr.isTTY === true

/**
 * Asks a question on stderr, so that stdout has results only. A typed secret is not shown. Rejects on Ctrl-C, and at
 * the end of stdin.
 */
export async function ask(
  { stdin, stderr, signal }: Terminal,
  question: string,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): Promise<string> {
  const noAnswer = new CommandError('forbidden', 'the question has no answer')
  if (stdin.readableEnded) throw noAnswer
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: stdin,
    output: isSecret ? hidden : stderr,
    terminal: true,
  })
  const refused = new Promise<never>((_resolve, reject) => {
    lines.once('SIGINT', () => reject(new CommandError('interrupted', 'interrupted')))
    // In this case `question` does not settle.
    lines.once('close', () => reject(noAnswer))
  })
  if (isSecret) stderr.write(question)
  try {
    const answer = lines.question(isSecret ? '' : question, { signal })
    return await Promise.race([answer, refused])
  } finally {
    lines.close()
    if (isSecret) stderr.write('\n')
  }
}
