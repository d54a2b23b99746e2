import { goTo } from '../data/address.js'
import type { concealedQuery } from '../data/concealed.js'
import { isolated } from '../data/isolated.js'
import { texts } from '../ui/texts.js'
import { StatusMessage } from './status-message.js'

/** Shown for a query that names attributes which the user may not see. */
export function ConcealedNames({ names, rest }: NonNullable<ReturnType<typeof concealedQuery>>) {
  const { concealed } = texts.states
  return (
    <StatusMessage>
      <h2>{concealed.title(names.map(isolated).join(', '))}</h2>
      <p>{concealed.text}</p>
      <div class="actions">
        <button type="button" class="btn main" onClick={() => goTo(rest)}>
          {concealed.leaveOut}
        </button>
      </div>
    </StatusMessage>
  )
}
