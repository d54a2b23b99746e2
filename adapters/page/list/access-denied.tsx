import { account } from '../data/account.js'
import { Brand } from '../ui/brand.js'
import { Icon } from '../ui/icon.js'
import { toggleTheme } from '../data/preferences.js'
import { texts } from '../ui/texts.js'
import { StatusMessage } from './status-message.js'

/** Replaces the page for users who are not signed in or may not read the log. */
export function AccessDenied({ status }: { status: 401 | 403 }) {
  const { signIn, forbidden } = texts.states
  const words = status === 401 ? signIn : forbidden
  return (
    <>
      <header class="bar bare-bar">
        <span class="brand">
          <Brand />
        </span>
        <span />
        <div class="tools">
          <button type="button" class="btn" onClick={toggleTheme}>
            <Icon name="theme" />
            {texts.bar.theme}
          </button>
        </div>
      </header>
      <div class="layout one">
        <main class="bare">
          <section class="events without-grid" aria-label={texts.list.events}>
            <StatusMessage art>
              <h1>{words.title(account.value?.username)}</h1>
              <p>{words.text}</p>
              <div class="actions">
                <button type="button" class="btn main" onClick={() => location.reload()}>
                  {words.reload}
                </button>
              </div>
            </StatusMessage>
          </section>
        </main>
      </div>
    </>
  )
}
