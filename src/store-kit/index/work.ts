/**
 * Returned by a read that needs chunks which have to be fetched first. The read has asked for them. Repeat it once they are
 * there.
 */
export const WAIT = null
export type Wait = typeof WAIT

/** Work on an index. It may pause where it yields; where it yields `WAIT`, it cannot go on before chunks were fetched. */
export type Work<Result> = Generator<Wait | undefined, Result, undefined>

/** Work that only waits. */
export type Reading<Result> = Generator<Wait, Result, undefined>

/** Items that are found one after another. Yields `undefined` and `WAIT` as `Work` does. */
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
 * The items of all streams. While one waits, the next ones begin, so that all that they need is fetched together; their
 * items may come first then.
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
