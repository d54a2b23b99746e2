/**
 * Returns a function that queues work. Each piece of work starts after the previous one has ended. The call resolves
 * or rejects as the work does.
 */
export function createSerial(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
