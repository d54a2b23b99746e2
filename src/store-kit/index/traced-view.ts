import type { QueryTrace } from '../../store/trace.js'
import type { IndexView } from './index-list.js'

/** The view, which also counts in the trace which parts are searched. */
export function tracedView(view: IndexView, trace: QueryTrace | undefined): IndexView {
  const step = trace?.current
  if (!step) return view
  step.parts = view.parts.length
  step.parts_read = 0
  return { ...view, onOpen: () => void (step.parts_read += 1) }
}
