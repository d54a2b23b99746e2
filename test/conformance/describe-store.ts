import { type CreateStore, storeConformance } from 'daybook/testing'
import { describe, it } from 'vitest'

/** Makes each case a test. A case that the store cannot run is skipped with its reason. */
export function describeStore(name: string, createStore: CreateStore): void {
  describe(`${name} store`, () => {
    for (const { name: title, run } of storeConformance(createStore)) {
      it(title, { timeout: 60_000 }, async ({ skip }) => {
        const reason = await run()
        if (reason !== undefined) skip(reason)
      })
    }
  })
}
