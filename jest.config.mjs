const project = (displayName, testMatch) => ({
  displayName,
  testMatch,
  rootDir: import.meta.dirname,
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2022" },
        module: { type: "es6" },
        sourceMaps: "inline",
      },
    ],
  },
  testEnvironmentOptions: { customExportConditions: ["source", "node", "node-addons"] },
  modulePathIgnorePatterns: ["<rootDir>/.*/dist/", "<rootDir>/.lapse/", "<rootDir>/.cache/"],
});

export default {
  projects: [
    project("unit", [
      "<rootDir>/{packages,services}/*/src/**/*.test.ts",
      "<rootDir>/deploy/local/src/**/*.test.ts",
    ]),
    project("service", [
      "<rootDir>/{packages,services}/*/test/**/*.test.ts",
      "<rootDir>/deploy/local/test/**/*.test.ts",
    ]),
    project("e2e", ["<rootDir>/test/**/*.test.ts"]),
  ],
};
