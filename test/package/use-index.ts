/*
 * The text of a function. It records more events than a segment of SQLite's index has, and waits until the index
 * contains them. It resolves to the number of started threads, and the warnings of the process.
 */
export const buildIndex = `
async function buildIndex(audit) {
  const threads = []
  const warnings = []
  process.on('worker', (worker) => threads.push(worker))
  process.on('warning', ({ message }) => warnings.push(message))
  const count = 20_000
  for (let i = 0; i < count; i += 1000)
    await Promise.all(Array.from({ length: 1000 }, (_, n) => audit.recordCustom('numbered', { n: i + n })))
  const deadline = Date.now() + 120_000
  while ((await audit.health()).index.waiting >= count) {
    if (Date.now() > deadline) throw new Error('no segment was built: ' + warnings.join())
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { events } = await audit.list('filter[n_eq]=17')
  if (events.length === 0) throw new Error('the index lacks an event')
  return { threads: threads.length, warnings: warnings.filter((text) => text.includes('SQLite store')) }
}
`
