import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Terminal } from './terminal.js'

/** Whether questions reach a person. */
export const canAsk = ({ stdin, stderr }: Terminal): boolean =>
  stdin.isTTY === true && stderr.isTTY === true

/**
 * Asks a question on stderr, so that stdout has results only. What is typed for a secret is not shown. Rejects with an `AbortError`
 * on Ctrl-C.
 */
export async function ask(
  { stdin, stderr, signal }: Terminal,
  question: string,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): Promise<string> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const interrupted = new AbortController()
  const lines = createInterface({
    input: stdin,
    output: isSecret ? hidden : stderr,
    terminal: true,
  })
  lines.on('SIGINT', () => interrupted.abort())
  if (isSecret) stderr.write(question)
  try {
    const either = AbortSignal.any([signal, interrupted.signal])
    return await lines.question(isSecret ? '' : question, { signal: either })
  } finally {
    lines.close()
    if (isSecret) stderr.write('\n')
  }
}
