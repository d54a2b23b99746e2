import { generateKey } from '../../../src/ledger/key-file.js'
import type { Call } from '../call/command.js'
import { usageError } from '../terminal/exit-codes.js'
import { printNotice } from '../terminal/notice.js'
import { write } from '../terminal/terminal.js'

export async function run({ arguments: given, options, terminal }: Call): Promise<void> {
  const file = options['out'] as string | undefined
  if (!file) throw usageError('--out is missing: it names the file of the key')
  const vkey = await generateKey(String(given['origin']), file)
  const isJson = Boolean(options['json'])
  printNotice(
    terminal,
    `${file} and ${file}.note are written: keep both, and keep ${file} secret`,
    isJson,
  )
  await write(terminal.stdout, `${isJson ? JSON.stringify({ vkey }) : vkey}\n`)
}
