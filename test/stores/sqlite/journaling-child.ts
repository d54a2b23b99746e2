import { sqliteJournal } from 'daybook/sqlite'

/*
 * Adds drafts to a journal until it is killed: `<file>`. Each line on stdout is the number of an added draft, or
 * `-<count>` for removed drafts.
 */
const [filename = ''] = process.argv.slice(2)
const journal = sqliteJournal({ filename })

/** Resolves once the pipe has the line. With a full pipe, the line would stay in the memory of this process. */
const print = (line: string): Promise<unknown> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, resolve))

for (let n = 0; ; n++) {
  const attributes = { n, text: 'x'.repeat(100) }
  const draft = {
    suffix: '8000000000000000',
    username: 'ann',
    system: true,
    type: 'x',
    source: null,
  }
  journal.add([
    {
      draft: { ...draft, attributes, json: JSON.stringify(attributes) },
      recordedAt: n,
      since: undefined,
    },
  ])
  await print(String(n))
  if (n % 10 === 9) {
    journal.remove(5)
    await print('-5')
  }
}
