import type { Grouping } from '../../filter/ast.js'
import { compileFilterInSteps } from '../../filter/evaluate.js'
import type { Concealment } from '../../filter/conceal.js'
import { sealedAtOnce } from '../../privacy/opening.js'
import type { StreamView } from '../stream/chunks.js'
import type { Fieldset } from './fieldset.js'
import { eventFrame } from './server-sent.js'

/** The view of all events. One for all streams, because a process may have thousands. */
const ALL: StreamView = { key: '', where: undefined, matches: () => true }

interface ShownFields {
  readonly fields?: Fieldset
  readonly concealed?: Concealment | undefined
}

/** The view of matching events as server-sent events. */
export function createStreamView(
  where: Grouping | undefined,
  path: string,
  { fields, concealed }: ShownFields = {},
): StreamView {
  if (!where && !fields && !concealed) return ALL
  const isOwn = fields !== undefined || concealed !== undefined
  return {
    key: JSON.stringify([where, fields && [...fields], concealed?.names]),
    where,
    matches: compileFilterInSteps(where),
    render: isOwn
      ? (event) => {
          const sealed = sealedAtOnce(event)
          return eventFrame(concealed ? concealed.event(sealed) : sealed, path, fields)
        }
      : undefined,
  }
}
