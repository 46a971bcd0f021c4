// swift-tools-version:6.0

import PackageDescription

// `run` puts the generated package beside a copy of this one, and the example of docs/clients.md into it.
let package = Package(
    name: "Play",
    dependencies: [.package(name: "OpenAPIClient", path: "../client")],
    targets: [
        .executableTarget(name: "Play", dependencies: ["OpenAPIClient"]),
        .executableTarget(name: "Example", dependencies: ["OpenAPIClient"]),
    ]
)
