import { type CreateStore, storeConformance } from 'daybook/testing'
import { describe, it } from 'vitest'

/** Makes each case but the `omitted` ones a test. A case that the store cannot run is skipped with its reason. */
export function describeStore(name: string, createStore: CreateStore, omitted?: RegExp): void {
  describe(`${name} store`, () => {
    for (const { name: title, run } of storeConformance(createStore)) {
      if (omitted?.test(title)) continue
      it(title, { timeout: 60_000 }, async ({ skip }) => {
        const reason = await run()
        if (reason !== undefined) skip(reason)
      })
    }
  })
}
