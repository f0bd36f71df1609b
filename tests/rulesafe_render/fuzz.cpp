// Renders random hostile scenes, for a build with the address and undefined-behaviour sanitizers:
// vertices that are not numbers, huge, equal or on the camera's plane, empty parts, wrong indices,
// extreme cameras, poses and textures. Arguments: first seed, number of scenes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "scene.h"

struct Renderer;
extern "C" {
Renderer* render_create(const Scene* scene, const char** message);
void render_destroy(Renderer* renderer);
int render_pose(Renderer* renderer, const float* poses);
void render_image(Renderer* renderer, int camera, uint8_t* rgb);
void render_positions(const Renderer* renderer, int camera, float* positions, uint16_t* links);
void render_farthest(const float* points, int total, int count, int32_t* selected);
}

namespace {

std::mt19937 source;

int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(source); }
float real(float low, float high) { return std::uniform_real_distribution<float>(low, high)(source); }
bool chance(float share) { return real(0, 1) < share; }

// A number that is sometimes extreme.
float number(float scale, float hostility) {
    if (!chance(hostility)) return real(-scale, scale);
    const float extremes[] = {0, -0.f, 1e-38f, 1e-20f, 1e4f, -1e4f, 9999.f, 3e38f, INFINITY, -INFINITY, NAN};
    return extremes[whole(0, 10)];
}

int count(int usual, float hostility) { return chance(hostility) ? whole(-1, 1) : whole(0, usual); }

bool render_one() {
    const float hostility = chance(0.6f) ? 0 : real(0, 0.02f), size = chance(0.2f) ? 1e4f : 1;
    const int links = whole(1, 5), parts = whole(0, 6), vertices = whole(0, 60), triangles = whole(0, 80);
    std::vector<std::vector<float>> attributes(8, std::vector<float>(vertices));
    for (int i = 0; i < 8; ++i)
        for (float& value : attributes[i]) value = i < 3 ? number(size, hostility) : number(1, hostility);
    if (vertices && chance(0.3f))  // many equal corners
        for (int i = 0; i < vertices; ++i) attributes[whole(0, 2)][i] = attributes[0][0];
    std::vector<Part> part(parts);
    std::vector<int32_t> corner(3 * triangles);
    for (int& index : corner) index = vertices ? whole(0, std::min(vertices - 1, 20)) : 0;
    for (Part& p : part) {
        p.first_vertex = vertices ? whole(0, std::max(0, vertices - 21)) : 0;
        p.vertices = std::max(0, std::min(vertices - p.first_vertex, 21 + whole(0, 20)));
        p.first_triangle = triangles ? whole(0, triangles - 1) : 0;
        p.triangles = p.vertices < 21 ? 0 : count(triangles - p.first_triangle, hostility);
        p.link = whole(0, links - 1) + (chance(hostility) ? whole(-3, 3) : 0);
        p.material = whole(0, 2), p.moves = whole(0, 1), p.casts_shadow = whole(0, 1), p.double_sided = whole(0, 1);
    }
    std::vector<Texture> texture(2);
    int texels = 0;
    for (Texture& t : texture) {
        t.first_texel = texels, t.width = whole(1, 9), t.height = whole(1, 9), t.levels = whole(1, 5);
        for (float& value : t.linear) value = real(0, 1);
        for (int level = 0, w = t.width, h = t.height; level < t.levels; ++level) {
            texels += w * h;
            w = std::max(1, w / 2), h = std::max(1, h / 2);
        }
    }
    std::vector<uint8_t> texel(4 * texels);
    for (uint8_t& value : texel) value = (uint8_t)whole(0, 255);
    if (chance(hostility)) texels -= 1;
    std::vector<Material> material(3);
    for (Material& m : material) {
        for (float& value : m.color) value = number(1, hostility);
        m.roughness = std::abs(number(1, hostility)), m.metallic = std::abs(number(1, hostility));
        m.texture = whole(-1, 1);
    }
    std::vector<DirectionalLight> sun(whole(0, 2));
    for (DirectionalLight& light : sun) light = {{0.6f, 0, 0.8f}, {number(3, hostility), 2, 2}};
    std::vector<PointLight> lamp(whole(0, 2));
    for (PointLight& light : lamp) light = {{number(1, hostility), number(1, hostility), 1}, {1, 1, 1}};
    std::vector<Camera> camera(whole(1, 3));
    for (Camera& c : camera) {
        c = {};
        for (int i = 0; i < 12; ++i) c.pose[i] = i % 4 == i / 4 ? 1.f : number(1, hostility);
        c.link = whole(-1, links - 1), c.fixed = c.link < 0;
        c.width = chance(hostility) ? whole(-1, 1) : whole(1, 70), c.height = whole(1, 50);
        c.focal = chance(0.1f) ? 1e5f : real(5, 200), c.center_x = c.width / 2.f, c.center_y = c.height / 2.f;
        c.near = chance(0.2f) ? 1e-4f : 0.02f, c.far = chance(0.1f) ? 9000 : 12;
    }
    Scene s{};
    s.parts = parts, s.materials = 3, s.textures = 2, s.links = links, s.vertices = vertices;
    s.triangles = triangles, s.texels = texels, s.directional_lights = (int)sun.size();
    s.point_lights = (int)lamp.size(), s.cameras = (int)camera.size();
    s.part = part.data(), s.material = material.data(), s.texture = texture.data();
    const float** to[8] = {&s.x, &s.y, &s.z, &s.nx, &s.ny, &s.nz, &s.u, &s.v};
    for (int i = 0; i < 8; ++i) *to[i] = attributes[i].data();
    s.corner = corner.data(), s.texel = texel.data(), s.camera = camera.data();
    s.directional_light = sun.data(), s.point_light = lamp.data();
    for (float& value : s.ambient) value = number(1, hostility);
    const float shadow[12] = {20, 0, 0, 32, 0, 20, 0, 32, 0, 0, 1, 2};
    for (int i = 0; i < 12; ++i) s.shadow[i] = chance(hostility) ? number(1, 1) : shadow[i];
    s.shadow_size = chance(hostility) ? whole(0, 70) : 64;

    const char* message = nullptr;
    Renderer* renderer = render_create(&s, &message);
    if (!renderer) return false;
    std::vector<float> poses(12 * links);
    for (int frame = 0; frame < 3; ++frame) {
        for (int i = 0; i < 12 * links; ++i)
            if (frame == 0 || i / 12 % 2 || chance(0.01f))  // others stay, and what is kept is used
                poses[i] = (i % 12) % 5 == 0 ? 1.f : number(chance(0.05f) ? 1e4f : 1, hostility);
        if (render_pose(renderer, poses.data())) continue;
        for (size_t i = 0; i < camera.size(); ++i) {
            const size_t pixels = (size_t)camera[i].width * camera[i].height;
            std::vector<uint8_t> rgb(3 * pixels);
            std::vector<float> positions(3 * pixels);
            std::vector<uint16_t> numbers(pixels);
            render_image(renderer, (int)i, rgb.data());
            render_positions(renderer, (int)i, positions.data(), numbers.data());
            for (uint16_t link : numbers)
                if (link > links) std::abort();
        }
    }
    render_destroy(renderer);
    const int total = whole(1, 300), selected = whole(1, total);
    std::vector<float> points(3 * total);
    for (float& value : points) value = (float)(int)number(1024, 0);
    if (hostility > 0 && chance(0.1f)) points[0] = number(1e9f, 0.9f);
    std::vector<int32_t> indices(selected);
    render_farthest(points.data(), total, selected, indices.data());
    for (int32_t index : indices)
        if (index < 0 || index >= total) std::abort();
    return true;
}

}  // namespace

int main(int, char** arguments) {
    int rendered = 0;
    const int first = std::atoi(arguments[1]), scenes = std::atoi(arguments[2]);
    for (int seed = first; seed < first + scenes; ++seed) {
        source.seed((unsigned)seed);
        rendered += render_one();
    }
    std::printf("%d\n", rendered);
}
