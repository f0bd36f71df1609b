#version 450
// Smooths stair-stepped edges along their direction, found from the luma of the neighbours.

layout(set = 0, binding = 0) uniform sampler2D samplerLighting;

layout(location = 0) out vec4 outColor;

const float CONTRAST = 0.06;  // weaker edges are not smoothed

vec4 at(ivec2 pixel) {
  return texelFetch(samplerLighting, clamp(pixel, ivec2(0), textureSize(samplerLighting, 0) - 1), 0);
}

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  vec4 center = at(pixel);
  float north = at(pixel + ivec2(0, -1)).a;
  float south = at(pixel + ivec2(0, 1)).a;
  float west = at(pixel + ivec2(-1, 0)).a;
  float east = at(pixel + ivec2(1, 0)).a;
  float low = min(center.a, min(min(north, south), min(west, east)));
  float high = max(center.a, max(max(north, south), max(west, east)));
  vec3 color = center.rgb;
  if (high - low > CONTRAST) {
    float nw = at(pixel + ivec2(-1, -1)).a;
    float ne = at(pixel + ivec2(1, -1)).a;
    float sw = at(pixel + ivec2(-1, 1)).a;
    float se = at(pixel + ivec2(1, 1)).a;
    // Gradient of the luma; blend with the neighbours across the edge.
    vec2 gradient = vec2(ne + 2.0 * east + se - nw - 2.0 * west - sw,
                         sw + 2.0 * south + se - nw - 2.0 * north - ne);
    float mean = (2.0 * (north + south + west + east) + nw + ne + sw + se) / 12.0;
    float share = clamp(abs(mean - center.a) / (high - low), 0.0, 1.0);
    share = smoothstep(0.0, 1.0, share) * 0.75;
    vec3 across = abs(gradient.x) > abs(gradient.y)
        ? at(pixel + ivec2(-1, 0)).rgb + at(pixel + ivec2(1, 0)).rgb
        : at(pixel + ivec2(0, -1)).rgb + at(pixel + ivec2(0, 1)).rgb;
    color = mix(color, across * 0.5, share);
  }
  outColor = vec4(color, 1.0);
}
