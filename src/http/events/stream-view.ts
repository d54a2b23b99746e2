import type { Grouping } from '../../filter/ast.js'
import { compileFilterInSteps } from '../../filter/evaluate.js'
import type { StreamView } from '../stream/chunks.js'
import type { Fieldset } from './fieldset.js'
import { eventFrame } from './server-sent.js'

/** The view of all events. One for all streams, because a process may have thousands. */
const ALL: StreamView = { key: '', where: undefined, matches: () => true }

/** The view of matching events as server-sent events. */
export function createStreamView(
  where: Grouping | undefined,
  path: string,
  fields?: Fieldset,
): StreamView {
  if (!where && !fields) return ALL
  return {
    key: JSON.stringify([where, fields && [...fields]]),
    where,
    matches: compileFilterInSteps(where),
    render: fields && ((event) => eventFrame(event, path, fields)),
  }
}
