import { coverage } from './coverage.js'

/** Checks routes given as `<METHOD> <path>`: `['POST /orders', 'DELETE /orders/:id']`. */
export const assertCoverage = /* @__PURE__ */ coverage((routes: readonly string[]) =>
  routes.map((route) => {
    const [method = '', path = ''] = route.split(' ')
    return { path, methods: [method] }
  }),
)
