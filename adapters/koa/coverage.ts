import { coverage } from '../../src/http/record/coverage.js'
import { COMMON_METHODS } from '../../src/http/record/route-type.js'
import type { RouterLayer } from './koa.js'

/** A router of @koa/router, including nested routers. */
export interface CoveredRouter {
  readonly stack: readonly RouterLayer[]
}

/** Only `router.all` declares CONNECT, which Node never gives to a handler. */
const isForAll = (methods: readonly string[]): boolean => methods.includes('CONNECT')

const isCommon = (method: string): boolean => COMMON_METHODS.includes(method)

/** Checks the routes of one or several routers. */
export const assertCoverage = /* @__PURE__ */ coverage(
  (router: CoveredRouter | readonly CoveredRouter[]) =>
    [router]
      .flat()
      .flatMap(({ stack }: CoveredRouter) => stack)
      .map(({ path, name, methods }) => ({
        path,
        name,
        methods: isForAll(methods) ? methods.filter(isCommon) : methods,
      })),
)
