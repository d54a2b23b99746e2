import type { IsSecret } from '../../event/secrets.js'
import { thrownErrorOfRealm } from '../thrown-error.js'
import type { MatchedRoute, Range, RecordedRoute } from './exchange.js'
import { secretParameterRanges } from './request-path.js'
import { warnThrown } from '../../async/warn.js'

/** The part of a `RecordedExchange` that follows from its path and its route. */
export abstract class RoutedExchange {
  #found: { readonly route: MatchedRoute | undefined } | undefined

  abstract get path(): string

  /** May call a function of the host. */
  protected abstract findRoute(): MatchedRoute | undefined

  /** To be called when the handler has ended: the route is known only then. */
  protected forgetRoute(): void {
    this.#found = undefined
  }

  get params(): object {
    return this.#matched?.params ?? {}
  }

  get route(): RecordedRoute | undefined {
    return this.#matched
  }

  secretRanges(isSecret: IsSecret): readonly Range[] {
    return secretParameterRanges(this.path, this.params, isSecret)
  }

  report(error: unknown): void {
    warnThrown(thrownErrorOfRealm(error))
  }

  get #matched(): MatchedRoute | undefined {
    this.#found ??= { route: this.#find() }
    return this.#found.route
  }

  /** A function of the host that throws must not cost the event. */
  #find(): MatchedRoute | undefined {
    try {
      return this.findRoute()
    } catch (error) {
      this.report(error)
      return undefined
    }
  }
}
