import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

// Built files are served under /assets. Nothing is inlined as data: the policy of the page allows only its own server.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/interlock/ui/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
    target: "es2022",
  },
  server: { proxy: { "/api": "http://127.0.0.1:4747" } },
})
