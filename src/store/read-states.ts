import type { EventStore, WaitOptions } from './store.js'

/* Reading the values that processes share. */

const PAGE_SIZE = 1000

/** Yields the values of the keys with this prefix, in order. A key comes without the prefix. */
export async function* scanStates<Value>(
  store: EventStore,
  prefix: string,
  { signal, after }: WaitOptions & { readonly after?: string | undefined } = {},
): AsyncGenerator<readonly [rest: string, value: Value], void, void> {
  let last = after === undefined ? undefined : prefix + after
  for (;;) {
    const options = { signal, limit: PAGE_SIZE, ...(last !== undefined && { after: last }) }
    const page = await store.readStates(prefix, options)
    for (const [key, value] of page) yield [key.slice(prefix.length), value as unknown as Value]
    if (page.length < PAGE_SIZE) return
    last = page.at(-1)![0]
  }
}

export async function readAll<Value>(
  store: EventStore,
  prefix: string,
  options?: WaitOptions,
): Promise<Map<string, Value>> {
  const values = new Map<string, Value>()
  for await (const [rest, value] of scanStates<Value>(store, prefix, options))
    values.set(rest, value)
  return values
}

/** The value of one key. */
export async function readState<Value>(
  store: EventStore,
  key: string,
  options?: WaitOptions,
): Promise<Value | undefined> {
  // The keys that begin with the key start with the key itself.
  const [first] = await store.readStates(key, { ...options, limit: 1 })
  return first?.[0] === key ? (first[1] as unknown as Value) : undefined
}
