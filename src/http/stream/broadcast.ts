import type { ReadOptions, SharedTail, View } from '../../tail/shared-tail.js'
import { type Chunk, createChunks, type RenderFrame, type StreamView } from './chunks.js'

/** Sends new events of a log to any number of streams, which share the rendered text. */
export interface Broadcast {
  /** See `SharedTail.read`: chunks of the matching events. */
  read(view: StreamView, options: ReadOptions): Promise<AsyncGenerator<Chunk, void, void>>
}

/** `render` renders events for views without a `render` of their own. */
export function createBroadcast(shared: SharedTail, render: RenderFrame): Broadcast {
  const chunks = createChunks(render)
  /** Kept by view, because most readers have the same one. */
  const views = new WeakMap<StreamView, View<Chunk>>()
  const viewOf = (view: StreamView): View<Chunk> => {
    const known = views.get(view)
    if (known) return known
    const created: View<Chunk> = {
      where: view.where,
      matches: view.matches,
      ofBatch: (batch, cursor) => chunks.ofBatch(batch, view, cursor),
      ofEvents: (events) => chunks.ofEvents(events, view),
    }
    views.set(view, created)
    return created
  }
  return { read: (view, options) => shared.read(viewOf(view), options) }
}
