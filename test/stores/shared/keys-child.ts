import { createSecretKey } from 'node:crypto'
import { openKeyTable } from '../../../adapters/postgres/subject-keys.js'
import { sqliteKeyTable } from '../../../adapters/sqlite/schema/subject-keys.js'
import { openFile } from '../../../adapters/sqlite/subject-keys.js'
import type { KeyTable } from '../../../src/privacy/keys/key-table.js'
import { createSubjectKeys } from '../../../src/privacy/keys/keys.js'
import { readMaster } from '../../../src/privacy/keys/master.js'

/*
 * Works with keys of subjects: `<file or connection string> <master> <task> <argument>`. The tasks are
 * `obtain <count>`, which prints the refs; `rotate <next master>`, which prints `page` before each page; and
 * `erase <count>`, which prints `begin`, `begun` and `ended` with the number of each subject.
 */
const [place = '', master = '', task = '', argument = ''] = process.argv.slice(2)

/** Resolves once the pipe has the line. */
const print = (line: string): Promise<unknown> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, resolve))

const masterOf = (text: string) => createSecretKey(Buffer.from(text, 'base64'))
const table: KeyTable = place.startsWith('postgres')
  ? openKeyTable({ connectionString: place })
  : sqliteKeyTable(openFile({ filename: place }))
const printing: KeyTable = {
  ...table,
  async rewrap(change, signal) {
    await print('page')
    return table.rewrap(change, signal)
  },
}
const keys = createSubjectKeys(printing, readMaster(masterOf(master), 'child'))
const subject = (i: number) => ({ kind: 'customer', id: `c${i}` })

if (task === 'obtain') {
  const subjects = Array.from({ length: Number(argument) }, (_, i) => subject(i))
  const shuffled = subjects.toSorted(() => Math.random() - 0.5)
  await Promise.all(shuffled.map(async (one) => keys.obtain([one])))
  const obtained = await keys.obtain(subjects)
  await print(obtained.map(({ ref, key }) => `${ref} ${Buffer.from(key).toString('hex')}`).join())
}
if (task === 'rotate') await print(`rotated ${await keys.rotate(masterOf(argument))}`)
if (task === 'erase')
  for (let i = 0; i < Number(argument); i++) {
    await print(`begin ${i}`)
    const begun = await keys.beginErasure(subject(i), { reason: 'asked', username: 'dpo' })
    await print(`begun ${i}`)
    await keys.endErasure(begun!.ref, { events: i })
    await print(`ended ${i}`)
  }
await keys.close()
