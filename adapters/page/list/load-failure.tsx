import { ApiError } from '../data/api.js'
import { tryAgain } from './loading.js'
import { texts } from '../ui/texts.js'
import { State } from './status-message.js'

/** What the server said, or that it said nothing. */
export function reasonOf(error: Error): string {
  const { failed } = texts.states
  if (error instanceof ApiError) return failed.answered(error.status, error.problem?.detail ?? '')
  return error.name === 'TimeoutError' ? failed.timeout : failed.unreachable
}

/** The list could not be loaded, and there is none from before. */
export function Failed({ error }: { error: Error }) {
  const { failed } = texts.states
  return (
    <State>
      <h2>{failed.title}</h2>
      <p>{reasonOf(error)}</p>
      <div class="do">
        <button type="button" class="btn main" onClick={tryAgain}>
          {failed.again}
        </button>
      </div>
    </State>
  )
}
