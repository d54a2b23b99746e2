import { ApiError } from '../data/api.js'
import { tryAgain } from './loading.js'
import { texts } from '../ui/texts.js'
import { StatusMessage } from './status-message.js'

/** The server's error message, or that it could not be reached. */
export function errorText(error: Error): string {
  const { failed } = texts.states
  if (error instanceof ApiError) return failed.answered(error.status, error.problem?.detail ?? '')
  return error.name === 'TimeoutError' ? failed.timeout : failed.unreachable
}

/** Shown when the list could not be loaded and no rows are left from before. */
export function LoadFailure({ error }: { error: Error }) {
  const { failed } = texts.states
  return (
    <StatusMessage>
      <h2>{failed.title}</h2>
      <p>{errorText(error)}</p>
      <div class="actions">
        <button type="button" class="btn main" onClick={tryAgain}>
          {failed.again}
        </button>
      </div>
    </StatusMessage>
  )
}
