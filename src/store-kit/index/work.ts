/*
 * How work on an index waits for chunks. A store whose chunks are in a file of this machine never lets a read wait. On
 * Postgres, a read of a chunk that is not in memory requests it and returns `WAIT`. The work yields `WAIT` and repeats that
 * read once it is resumed. The task runner of the store resumes all works of a query until each of them waits, and then
 * fetches with one statement what they have requested.
 */

/**
 * Returned by a read that has requested chunks and has to be repeated once they are there. It is `null`: `found && use(found)`
 * passes it on, and `found?.member` does not.
 */
export const WAIT = null
export type Wait = typeof WAIT

/** Work on an index. It may pause where it yields; where it yields `WAIT`, it cannot go on before chunks were fetched. */
export type Work<Result> = Generator<Wait | undefined, Result, undefined>

/** Work that only waits. */
export type Reading<Result> = Generator<Wait, Result, undefined>

/** Items that are found one after another. `undefined` and `WAIT` in between mean the same as in `Work`. */
export type Stream<Item> = Iterable<Item | Wait | undefined>

/** The results of all reads, once none of them has to wait. */
export function* readAll<Result>(
  reads: readonly (() => Result | Wait)[],
): Reading<readonly Result[]> {
  for (;;) {
    const results = ready(reads.map((read) => read()))
    if (results !== WAIT) return results
    yield WAIT
  }
}

/** The result of the read, once it does not have to wait. */
export function* readOne<Result>(read: () => Result | Wait): Reading<Result> {
  for (;;) {
    const result = read()
    if (result !== WAIT) return result
    yield WAIT
  }
}

/** The results, if none of them has to wait. */
export const ready = <Result>(results: readonly (Result | Wait)[]): readonly Result[] | Wait =>
  results.includes(WAIT) ? WAIT : (results as readonly Result[])

/**
 * The items of all streams. While a stream waits, the next ones begin, so that their chunks are fetched with its own. Items of
 * a later stream may come first then.
 */
export const together = <Item>(streams: readonly (() => Stream<Item>)[]): Stream<Item> =>
  streams.length === 1 ? streams[0]!() : inTurn(streams)

function* inTurn<Item>(
  streams: readonly (() => Stream<Item>)[],
): Generator<Item | Wait | undefined, void, undefined> {
  const waiting: Iterator<Item | Wait | undefined>[] = []
  let begun = 0
  try {
    do {
      for (let i = 0; i < waiting.length || begun < streams.length;) {
        const next = (waiting[i] ??= streams[begun++]!()[Symbol.iterator]()).next()
        if (next.done) waiting.splice(i, 1)
        else if (next.value === WAIT) i += 1
        else yield next.value
      }
      if (waiting.length > 0) yield WAIT
    } while (waiting.length > 0)
  } finally {
    for (const stream of waiting) stream.return?.()
  }
}

/** The result of the work as the only item of a stream. */
export function* streamOf<Result>(
  work: Work<Result>,
): Generator<Result | Wait | undefined, void, undefined> {
  yield yield* work
}

/** Does the work. Whenever it waits, `request` requests what the work will need later. */
export function* withRequests<Result>(work: Work<Result>, request: () => void): Work<Result> {
  for (;;) {
    const next = work.next()
    if (next.done) return next.value
    if (next.value === WAIT) request()
    yield next.value
  }
}
