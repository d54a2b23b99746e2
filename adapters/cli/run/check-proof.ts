import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { visibleText } from '../../../src/describing/visible-text.js'
import { checkProof } from '../../../src/ledger/proof.js'
import type { Call } from '../call/command.js'
import { CommandError, usageError } from '../terminal/exit-codes.js'
import { type Terminal, write } from '../terminal/terminal.js'

/** Texts are read as they are: a byte order mark is kept, and bytes that are not UTF-8 are refused. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

async function readText(file: string, { stdin }: Terminal): Promise<string> {
  const bytes = await (file === '-' ? buffer(stdin) : readFile(file)).catch((error: unknown) => {
    throw new CommandError('usage', `cannot read ${file}: ${(error as Error).message}`)
  })
  try {
    return decoder.decode(bytes)
  } catch {
    throw usageError(`${file} is not UTF-8`)
  }
}

export async function run({ arguments: given, options, terminal }: Call): Promise<void> {
  const key = options['key'] as string | undefined
  const policyFile = options['policy'] as string | undefined
  if ((key === undefined) === (policyFile === undefined))
    throw usageError('give either --key or --policy: it says which ledger is trusted')
  const { origin, size, index, kind, event } = await checkProof({
    proof: await readText(String(given['proof']), terminal),
    event: await readText(String(given['event']), terminal),
    policy: key ?? (await readText(policyFile!, terminal)),
  })
  const text = options['json']
    ? JSON.stringify({ origin, size, index, kind, id: event.id })
    : visibleText(`proved: event ${event.id} is leaf ${index} of ${size} of ${origin}`)
  await write(terminal.stdout, `${text}\n`)
}
