/** How often the event loop turns while the call runs. */
export async function turnsDuring(call: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let immediate = setImmediate(function count() {
    turns += 1
    immediate = setImmediate(count)
  })
  await call().finally(() => clearImmediate(immediate))
  return turns
}
