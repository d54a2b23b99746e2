import type { Builder } from '../../src/store-kit/index-builder/builder.js'
import { mergeSegments } from '../../src/store-kit/index-builder/merging.js'
import { nextToMerge } from '../../src/store-kit/index-builder/segment-levels.js'

/** Merges the next segments, if there are enough of a level, as a round does without its turns. */
export async function mergeNext(builder: Builder): Promise<boolean> {
  const parts = nextToMerge(await builder.driver.visibleSegments(), builder.tuning)
  if (parts) await mergeSegments(builder, parts)
  return parts !== undefined
}
