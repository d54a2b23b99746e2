import { account } from '../data/account.js'
import { fault, goToText, query, search } from '../data/address.js'
import { apiPath } from '../data/config.js'
import { Icon } from '../ui/icon.js'
import { lazy } from '../ui/lazy.js'
import { ALL_TIME, apiQuery, formatPageQuery } from '../data/query.js'
import { QueryText } from '../ui/query-text.js'
import { texts } from '../ui/texts.js'
import { copyCurl, copyLink } from '../list/copy-commands.js'
import { isEditing } from '../ui/query-commands.js'
import { faultOf, queryTokens, readableQuery } from '../data/query-tokens.js'

const QueryLineField = lazy(() => import('./query-line-field.js'), 'QueryLineField')

function Line() {
  const error = fault.value
  const text = readableQuery(error ? search.value : apiQuery(query.value))
  return (
    <code
      tabIndex={0}
      role="textbox"
      aria-readonly="true"
      aria-label={texts.line.query}
      title={error?.message}
    >
      GET {apiPath}
      {text !== '' && '?'}
      <QueryText tokens={queryTokens(text, error && faultOf(error))} />
    </code>
  )
}

/** The API call for the query, with buttons to edit and copy it. */
export function QueryLine() {
  const { username } = account.value ?? {}
  const apply = (text: string): void => {
    isEditing.value = false
    goToText(text === '' ? formatPageQuery({ where: [], sorts: [], range: ALL_TIME }) : text)
  }
  return (
    <section class="raw" aria-label={texts.line.region}>
      <span class="raw-count">
        {username !== undefined && (
          <>
            {texts.line.signedIn} <b>{username}</b>
          </>
        )}
      </span>
      {isEditing.value ? <QueryLineField apply={apply} /> : <Line />}
      <div class="raw-actions">
        <button
          type="button"
          class="link"
          // Without this, the field would lose the focus, and restore its text, before the click.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => (isEditing.value = !isEditing.value)}
        >
          {isEditing.value ? texts.common.cancel : texts.line.edit}
        </button>
        <button
          type="button"
          class="link"
          title={texts.line.copyUrl}
          onClick={() => void copyLink()}
        >
          <Icon name="copy" />
          {texts.line.url}
        </button>
        <button
          type="button"
          class="link"
          title={texts.line.copyCurl}
          onClick={() => void copyCurl()}
        >
          <Icon name="copy" />
          {texts.line.curl}
        </button>
      </div>
    </section>
  )
}
