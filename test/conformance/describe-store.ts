import type { Clock } from 'daybook'
import {
  type ConformanceCase,
  type CreateStore,
  storeConformance,
  type StoreUnderTest,
} from 'daybook/testing'
import { describe, it } from 'vitest'

export interface CaseOptions {
  readonly clock: Clock
  /** The abilities that the case uses. */
  readonly needs: NonNullable<ConformanceCase['needs']>
}

/** Makes each included case a test. A case that the store cannot run is skipped with its reason. */
export function describeStore(
  name: string,
  createStore: (options: CaseOptions) => Promise<StoreUnderTest> | StoreUnderTest,
  includes: (name: string, index: number) => boolean = () => true,
): void {
  // Cases run one at a time.
  let needs: CaseOptions['needs'] = []
  const createForCase: CreateStore = ({ clock }) => createStore({ clock, needs })
  describe(`${name} store`, () => {
    for (const [i, one] of storeConformance(createForCase).entries()) {
      if (!includes(one.name, i)) continue
      it(one.name, async ({ skip }) => {
        needs = one.needs ?? []
        const reason = await one.run()
        if (reason !== undefined) skip(reason)
      })
    }
  })
}
